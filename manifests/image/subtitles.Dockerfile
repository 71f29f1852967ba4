# The image of the speech workers: the product's, with Python and faster-whisper. Build the product's image first, then, from the root
# of the tree:
#   docker build -f manifests/image/subtitles.Dockerfile --build-arg PRODUCT=foyer:0.1.0 -t foyer-subtitles:0.1.0 .
# For NVIDIA GPUs add --build-arg GPU=1, which brings cuBLAS and cuDNN (1.3 GB). hack/image subtitles makes the same without Docker and
# without GPU; test/cluster/image.test.ts keeps the two in step.
ARG PRODUCT=foyer:0.1.0

FROM node:24.21.0-bookworm-slim AS speech
ARG GPU=
RUN apt-get update \
 && apt-get install -y --no-install-recommends python3 python3-venv \
 && rm -rf /var/lib/apt/lists/*
RUN python3 -m venv /opt/speech \
 && /opt/speech/bin/pip install --no-cache-dir faster-whisper==1.2.1 ctranslate2==4.8.5 \
    ${GPU:+nvidia-cublas-cu12==12.9.3.13 nvidia-cudnn-cu12==9.28.0.42} \
 && /opt/speech/bin/pip uninstall -y setuptools pip

FROM ${PRODUCT}
USER root
RUN apt-get update \
 && apt-get install -y --no-install-recommends python3 \
 && rm -rf /var/lib/apt/lists/*
COPY --from=speech /opt/speech /opt/speech
ENV FOYER_SUBTITLES_PYTHON=/opt/speech/bin/python3
ENV LD_LIBRARY_PATH=/opt/speech/lib/python3.11/site-packages/nvidia/cublas/lib:/opt/speech/lib/python3.11/site-packages/nvidia/cudnn/lib
USER 1000:1000
