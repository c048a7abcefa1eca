"""How the workers of test_broker are run."""

# The broker has no broadcast, which these parts of a worker would need.
WORKER_ARGUMENTS = ("--pool=threads", "--without-gossip", "--without-mingle", "--without-heartbeat")
CELERY_SETTINGS = {
    "worker_enable_remote_control": False,
    "worker_send_task_events": False,
    "task_acks_late": True,
    "task_reject_on_worker_lost": True,
    "worker_prefetch_multiplier": 1,
    "broker_connection_retry_on_startup": True,
}
