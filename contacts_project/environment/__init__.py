"""The settings that come from environment variables: one table, read and validated at each start."""

from contacts_project.environment.reader import (
    WrongSettingError,
    load_env_file,
    misspelt_names,
    read_settings,
    wrong_setting_message,
)

__all__ = ["WrongSettingError", "load_env_file", "misspelt_names", "read_settings", "wrong_setting_message"]
