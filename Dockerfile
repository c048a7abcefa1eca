# The service in one image: `docker run -p 8000:8000 -v contacts:/data IMAGE` is a whole instance; compose.yaml runs it
# as web, workers and scheduler (docs/install.md). Built in two steps: pip and its traces stay in the first.
ARG PYTHON=python:3.13.7-slim-bookworm@sha256:adafcc17694d715c905b4c7bebd96907a1fd5cf183395f0ebc4d3428bd22d92d

FROM ${PYTHON} AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
# `--build-arg REQUIREMENTS=tracing`: with what traces need (docs/monitoring.md).
ARG REQUIREMENTS=run
COPY requirements/$REQUIREMENTS.txt /requirements.txt
# What would have to be compiled fails here; http-ece is Python alone, and has no wheel.
RUN python -m venv --without-pip /packages && \
    python -m pip --python /packages/bin/python install --only-binary :all: --no-binary http-ece --require-hashes -r /requirements.txt
WORKDIR /app
COPY . .
# The service itself may not write here. Its umask would have it write what it cannot read, so Python's files are compiled
# before `check`, which compiles the translations. The folder's own modes do not count: it may be its owner's alone.
RUN chmod -R u=rwX,go=rX . && python -m compileall -q . && \
    DATA_DIR=/tmp/data /packages/bin/python manage.py check && rm -r /tmp/data requirements

FROM ${PYTHON}
# glibc gives each of many threads memory of its own, and hardly any back.
ENV PATH=/packages/bin:$PATH PYTHONUNBUFFERED=1 MALLOC_ARENA_MAX=2 PYTHONMALLOC=malloc DATA_DIR=/data HOST=0.0.0.0 PORT=8000
# The official image has its library without Python's compiled files; each process would compile what it imports.
RUN python -m pip uninstall --yes --quiet --root-user-action ignore pip && python -m compileall -q /usr/local/lib && \
    groupadd --gid 10001 contacts && useradd --uid 10001 --gid 10001 --no-create-home --no-log-init contacts && \
    mkdir /data && chown contacts:contacts /data
COPY --from=build /packages /packages
COPY --from=build /app /app
WORKDIR /app
USER 10001:10001
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=10s --start-period=60s --retries=3 CMD ["python", "-c", \
    "import os, urllib.request as u; u.urlopen('http://127.0.0.1:' + os.environ['PORT'] + '/api/health', timeout=8)"]
CMD ["python", "manage.py", "serve"]
