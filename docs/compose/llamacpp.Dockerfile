# llama.cpp's server, built from its source for the processor alone. Its own images are not on Docker
# Hub. Set REF to a release that you have tried.
FROM debian:trixie-slim AS build
ARG REF=master
RUN apt-get update && apt-get install -y --no-install-recommends \
    ca-certificates cmake g++ git make
RUN git clone --depth 1 --branch "$REF" https://github.com/ggml-org/llama.cpp /llama
RUN cmake -S /llama -B /build -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF \
    -DGGML_NATIVE=ON -DLLAMA_CURL=OFF \
    && cmake --build /build --target llama-server --parallel

FROM debian:trixie-slim
RUN apt-get update && apt-get install -y --no-install-recommends curl libgomp1 \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /build/bin/llama-server /usr/local/bin/llama-server
EXPOSE 8000
USER nobody
ENTRYPOINT ["llama-server"]
