"""The app, from the top down: panels and server, then session, then viewer and files."""
