use crate::cli;
use crate::failure::Failure;
pub(crate) fn demo(_args: &cli::Demo) -> Result<(), Failure> { Ok(()) }
