//! placeholder
use crate::{cli, failure::Failure};
pub(crate) fn serve(_: &cli::Serve) -> Result<(), Failure> {
    Ok(())
}
