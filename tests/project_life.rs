//! A project over time: pins stay while they hold, upgrades move what they are told to.
