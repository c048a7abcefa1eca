"""The roof has no tables. The module stands here because Django sends post_migrate only to apps that have one."""
