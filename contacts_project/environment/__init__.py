"""The environment that the service is set up by: every variable in one table, read and judged at each start."""

from contacts_project.environment.reader import WrongSettingError, misspelt_names, read, read_file, wrong

__all__ = ["WrongSettingError", "misspelt_names", "read", "read_file", "wrong"]
