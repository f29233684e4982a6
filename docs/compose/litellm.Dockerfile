# LiteLLM's proxy. Its own images are not on Docker Hub.
FROM python:3.13-slim
ARG VERSION=1.108.7
RUN pip install --no-cache-dir "litellm[proxy]==$VERSION"
ENV HOME=/tmp
EXPOSE 4000
USER nobody
CMD ["sh", "-c", "LITELLM_MASTER_KEY=\"$(cat /run/secrets/proxy_key)\" exec litellm --config /etc/litellm.yml --port 4000"]
