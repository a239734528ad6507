# docker build --target cpu -t gleanvid .     then: docker run -p 7860:7860 gleanvid
# docker build --target cuda -t gleanvid .    then: docker run --gpus all -p 7860:7860 gleanvid
# Models are kept in a volume: -v gleanvid:/home/app/.cache/huggingface
# For strangers: deploy/compose.yaml
FROM python:3.11-slim AS source
RUN pip install --no-cache-dir uv
# The folders exist for volumes, which take their owner from them.
RUN useradd --create-home app && install -d -o app /home/app/.cache /home/app/.cache/huggingface /files
WORKDIR /source
COPY pyproject.toml setup.py README.md LICENSE ./
COPY gleanvid gleanvid
COPY components components
COPY assets assets

FROM source AS cpu
RUN UV_TORCH_BACKEND=cpu uv pip install --system --no-cache '.[app]'
USER app
WORKDIR /home/app
EXPOSE 7860
ENTRYPOINT ["gleanvid", "app", "--host", "0.0.0.0", "--port", "7860"]

FROM source AS cuda
RUN uv pip install --system --no-cache '.[app,quantize]'
USER app
WORKDIR /home/app
EXPOSE 7860
ENTRYPOINT ["gleanvid", "app", "--host", "0.0.0.0", "--port", "7860"]
