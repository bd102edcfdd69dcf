//! The commands, one file for each group.

pub(crate) mod backup;
pub(crate) mod bench;
pub(crate) mod demo;
pub(crate) mod export;
pub(crate) mod functions;
pub(crate) mod import;
pub(crate) mod init;
pub(crate) mod manual;
mod markdown;
pub(crate) mod minimize;
pub(crate) mod report;
pub(crate) mod show;
