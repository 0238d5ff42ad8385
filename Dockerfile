# The collection service. Build and run:
#
#   docker build -t subsetprivacy .
#   docker run --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges \
#     -v surveys:/data -p 127.0.0.1:8000:8000 subsetprivacy --base-url https://ask.example.org
#
# The set-up link is in `docker logs`. Put a proxy with https in front of it: docs/how-to/operate-a-server.md.

FROM python:3.13-slim AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY src src
RUN python -m venv /opt/subsetprivacy \
 && /opt/subsetprivacy/bin/pip install --no-cache-dir --disable-pip-version-check ".[serve]" \
 && /opt/subsetprivacy/bin/python -m compileall -q /opt/subsetprivacy/lib

FROM python:3.13-slim
COPY --from=build /opt/subsetprivacy /opt/subsetprivacy
# The only folder that is written to. It holds the answers' counters and the keys of the studies.
RUN useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin surveys \
 && install -d -o surveys -g surveys -m 0700 /data
USER surveys
VOLUME /data
ENV PYTHONDONTWRITEBYTECODE=1 PYTHONUNBUFFERED=1
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
  CMD ["/opt/subsetprivacy/bin/python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8000/studio/sign-in', timeout=4)"]
ENTRYPOINT ["/opt/subsetprivacy/bin/subsetprivacy", "serve", "--host", "0.0.0.0", "--db", "/data/surveys.db"]
