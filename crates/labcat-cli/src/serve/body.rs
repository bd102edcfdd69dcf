//! Bodies of answers, plain and compressed.

use std::io::{self, Write};
use std::sync::{Arc, OnceLock};

use flate2::Compression;
use flate2::write::GzEncoder;

/// What is shorter is sent as it is, in bytes.
const WORTH_COMPRESSING: usize = 1024;

/// A text that may be sent to many at the same time.
#[derive(Clone)]
pub(super) struct Body {
    plain: Arc<[u8]>,
    /// Made when somebody asks.
    compressed: Arc<OnceLock<Option<Arc<[u8]>>>>,
}

impl Body {
    pub(super) fn new(text: String) -> Body {
        Body { plain: text.into_bytes().into(), compressed: Arc::default() }
    }

    pub(super) fn plain(&self) -> Arc<[u8]> {
        Arc::clone(&self.plain)
    }

    /// The text in gzip's format; `None` if that is not worth it.
    pub(super) fn compressed(&self) -> Option<Arc<[u8]>> {
        if self.plain.len() < WORTH_COMPRESSING {
            return None;
        }
        self.compressed.get_or_init(|| compress(&self.plain).ok()).clone()
    }
}

fn compress(text: &[u8]) -> io::Result<Arc<[u8]>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::new(4));
    encoder.write_all(text)?;
    encoder.finish().map(Into::into)
}
