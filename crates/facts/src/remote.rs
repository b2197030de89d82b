//! A file on a server, read through ranges as if it lay on the disk.

use std::io::{self, Read, Seek, SeekFrom};

use reqwest::blocking::Client;
use reqwest::header::RANGE;
use url::Url;

/// The first read of a place asks for this much; each that follows on from it for twice as much, to [`LARGEST`].
const SMALLEST: u64 = 64 << 10;
const LARGEST: u64 = 32 << 20;

/// A remote file. It keeps one block of it in memory.
pub struct Remote {
    client: Client,
    url: Url,
    len: u64,
    at: u64,
    block: Vec<u8>,
    block_start: u64,
    next_size: u64,
}

impl Remote {
    /// Opens the file that an index says is `len` bytes long.
    #[must_use]
    pub fn new(client: Client, url: Url, len: u64) -> Self {
        Self { client, url, len, at: 0, block: Vec::new(), block_start: 0, next_size: SMALLEST }
    }

    fn fill(&mut self) -> io::Result<()> {
        let follows_on = self.at == self.block_start + self.block.len() as u64;
        self.next_size = if follows_on { (self.next_size * 2).min(LARGEST) } else { SMALLEST };
        let last = (self.at + self.next_size).min(self.len) - 1;
        let mut tries = 0;
        self.block = loop {
            match self.range(self.at, last) {
                Ok(block) => break block,
                // A dropped connection after minutes of reading is common, and asking once more is what mends it.
                Err(_) if tries < 3 => tries += 1,
                Err(error) => return Err(error),
            }
        };
        self.block_start = self.at;
        Ok(())
    }

    fn range(&self, first: u64, last: u64) -> io::Result<Vec<u8>> {
        let request =
            self.client.get(self.url.clone()).header(RANGE, format!("bytes={first}-{last}"));
        let answer = request.send().and_then(reqwest::blocking::Response::error_for_status);
        let answer = answer.map_err(io::Error::other)?;
        if answer.status() != reqwest::StatusCode::PARTIAL_CONTENT {
            return Err(io::Error::other("the server does not answer range requests"));
        }
        let bytes = answer.bytes().map_err(io::Error::other)?;
        if bytes.len() as u64 != last - first + 1 {
            return Err(io::Error::other("the server answered with another range"));
        }
        Ok(bytes.to_vec())
    }
}

impl Read for Remote {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.at >= self.len || out.is_empty() {
            return Ok(0);
        }
        let within = |remote: &Self| {
            let skip = remote.at.checked_sub(remote.block_start)?;
            remote
                .block
                .get(usize::try_from(skip).ok()?..)
                .filter(|rest| !rest.is_empty())
                .map(<[u8]>::len)
        };
        if within(self).is_none() {
            self.fill()?;
        }
        let skip = usize::try_from(self.at - self.block_start).map_err(io::Error::other)?;
        let rest = self.block.get(skip..).unwrap_or_default();
        let n = rest.len().min(out.len());
        out[..n].copy_from_slice(&rest[..n]);
        self.at += n as u64;
        Ok(n)
    }
}

impl Seek for Remote {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let to = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.len.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        self.at = to.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        Ok(self.at)
    }
}
