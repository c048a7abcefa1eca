# The service in one image: `docker run -p 8000:8000 -v contacts:/data IMAGE` is a whole instance.
# Behind PostgreSQL and Redis run the same image as web, worker and scheduler (docs/running.md).
FROM python:3.13-slim

ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 MALLOC_ARENA_MAX=2 DATA_DIR=/data HOST=0.0.0.0 PORT=8000
WORKDIR /app
COPY requirements/run.txt requirements/run.txt
RUN pip install --no-cache-dir --require-hashes -r requirements/run.txt
COPY . .
# Starting anything compiles the translations; the user below may not write here.
RUN DATA_DIR=/tmp/build python manage.py check && rm -r /tmp/build
RUN useradd --system --uid 10001 contacts && mkdir /data && chown contacts /data
USER contacts
VOLUME /data
EXPOSE 8000
HEALTHCHECK CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/api/health', timeout=5)"]
CMD ["python", "manage.py", "serve"]
