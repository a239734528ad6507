"""The app. Its layers from the top: panels and server, then session, then viewer and files."""
