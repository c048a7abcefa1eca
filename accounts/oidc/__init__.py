"""Sign-in through an OpenID Connect provider: authorization code flow with PKCE, state and nonce."""
