//! Several machines in one env.toml.
