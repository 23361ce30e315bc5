# docker build --target slim -t audiocapbench .        models behind an API; no torch
# docker build --target cuda -t audiocapbench:cuda .   also open weights, on an NVIDIA GPU
# docker run --rm -v "$PWD:/data" audiocapbench demo
ARG PYTHON=3.12

FROM python:${PYTHON}-slim AS wheel
WORKDIR /build
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN python -m pip wheel --no-cache-dir --no-deps --wheel-dir /dist .

FROM python:${PYTHON}-slim AS base
RUN useradd --create-home audiocapbench && install --directory --owner=audiocapbench /data /cache
ENV AUDIOCAPBENCH_STORE=/data/audiocapbench.db HF_HOME=/cache XDG_CACHE_HOME=/cache PYTHONUNBUFFERED=1
WORKDIR /data
VOLUME /data
ENTRYPOINT ["audiocapbench"]
CMD ["--help"]

FROM base AS cuda
# torch's wheels bring CUDA; the host has the driver and the NVIDIA container toolkit.
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
RUN --mount=type=bind,from=wheel,source=/dist,target=/dist \
    python -m pip install --no-cache-dir "$(echo /dist/*.whl)[dashscope,gemini,hub,local,openai,sbert,web]"
USER audiocapbench

# The last one is what is built without --target.
FROM base AS slim
RUN --mount=type=bind,from=wheel,source=/dist,target=/dist \
    python -m pip install --no-cache-dir "$(echo /dist/*.whl)[dashscope,gemini,hub,openai,web]"
USER audiocapbench
