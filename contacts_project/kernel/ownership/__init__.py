"""Every row of an account's data is read through its owner and written under the account's lock."""
