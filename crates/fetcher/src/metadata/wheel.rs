//! METADATA in a wheel, of which the whole or only the end is there.

use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;

use cuda_lock_constraint::name::Name;

use super::sparse::Sparse;
use super::zip::{ArchiveError, Directory, Stop};

/// More rounds than any archive needs: the end, a long comment, the directory, a member, its longer header.
const MAX_ROUNDS: u32 = 8;
/// How much of a local file is read at first; most wheels have METADATA and directory in it.
const TAIL_LEN: u64 = 64 << 10;

/// What to do next for the METADATA of a wheel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Fetch this range of bytes, hand it to [`WheelTail::supply`], and ask again.
    Need(Range<u64>),
    /// The METADATA.
    Done(Vec<u8>),
}

/// The METADATA of a wheel on a server that answers range requests: starts from the last bytes of the file and asks for
/// what else is needed, in ranges that are as few as can be (none or one for usual wheels, two for those with
/// thousands of members).
///
/// ```no_run
/// # use cuda_lock_fetcher::metadata::{Step, WheelTail, ArchiveError};
/// # fn fetch(range: std::ops::Range<u64>) -> Vec<u8> { Vec::new() }
/// # fn example(size: u64, tail: &[u8]) -> Result<Vec<u8>, ArchiveError> {
/// let project = "torch".parse().expect("a name");
/// let mut wheel = WheelTail::new(size, project);
/// wheel.supply(size - tail.len() as u64, tail);
/// loop {
///     match wheel.step()? {
///         Step::Need(range) => wheel.supply(range.start, &fetch(range.clone())),
///         Step::Done(metadata) => return Ok(metadata),
///     }
/// }
/// # }
/// ```
#[derive(Debug)]
pub struct WheelTail {
    file: Sparse,
    project: Name,
    rounds: u32,
}

impl WheelTail {
    /// A wheel of `size` bytes, of which nothing is known yet.
    #[must_use]
    pub fn new(size: u64, project: Name) -> Self {
        Self { file: Sparse::new(size), project, rounds: 0 }
    }

    /// Adds bytes that begin at `offset` of the wheel. They may be more or less than what was asked for.
    pub fn supply(&mut self, offset: u64, bytes: &[u8]) {
        self.file.insert(offset, bytes);
    }

    /// The METADATA, or what is missing for it.
    ///
    /// # Errors
    /// When the file is no zip archive, has no METADATA of the project, or has it in a form that is not read; also when
    /// it keeps asking for more although it was given what it asked for.
    pub fn step(&mut self) -> Result<Step, ArchiveError> {
        self.rounds += 1;
        if self.rounds > MAX_ROUNDS {
            return Err(ArchiveError::Malformed("its parts do not fit together"));
        }
        match find(&self.file, self.project) {
            Ok(metadata) => Ok(Step::Done(metadata)),
            Err(Stop::Need(range)) => Ok(Step::Need(range)),
            Err(Stop::Fail(error)) => Err(error),
        }
    }
}

fn find(file: &Sparse, project: Name) -> Result<Vec<u8>, Stop> {
    let directory = Directory::find(file)?;
    let mut found = None;
    let mut others = Vec::new();
    for member in directory.members() {
        let (name, member) = member?;
        let Some(distribution) = std::str::from_utf8(name).ok().and_then(dist_info) else {
            continue;
        };
        if !is_of(distribution, project) {
            others.push(distribution);
        } else if found.replace(member).is_some() {
            let message = format!("it has more than one .dist-info folder of '{project}'");
            return Err(ArchiveError::NotFound(message).into());
        }
    }
    match found {
        Some(member) => directory.read(file, &member),
        None => {
            let found = match others.first() {
                Some(other) => format!(", but that of '{other}'"),
                None => String::new(),
            };
            Err(ArchiveError::NotFound(format!("it has no METADATA of '{project}'{found}")).into())
        }
    }
}

/// `name-version` of a path `name-version.dist-info/METADATA`.
fn dist_info(path: &str) -> Option<&str> {
    path.strip_suffix("/METADATA")?
        .strip_suffix(".dist-info")
        .filter(|folder| !folder.contains('/'))
}

/// Whether `name-version` is about the project. The version is not compared: builders spell it in more than one way.
fn is_of(distribution: &str, project: Name) -> bool {
    let name = distribution.split_once('-').map_or(distribution, |(name, _)| name);
    Name::new(name) == Ok(project)
        // Names that were not escaped keep their own `-`.
        || distribution.rsplit_once('-').is_some_and(|(name, _)| Name::new(name) == Ok(project))
}

/// The METADATA of a whole wheel, in memory or in a file. Only the parts that are needed are read.
///
/// # Errors
/// As for [`WheelTail::step`], and when reading fails.
pub fn metadata_from_wheel(
    wheel: impl Read + Seek,
    project: Name,
) -> Result<Vec<u8>, ArchiveError> {
    drive(wheel, |file| find(file, project))
}

/// Feeds `find` from a whole file with whatever it asks for.
pub(super) fn drive<R: Read + Seek, T>(
    mut reader: R,
    find: impl Fn(&Sparse) -> Result<T, Stop>,
) -> Result<T, ArchiveError> {
    let io = |error: std::io::Error| ArchiveError::Io(error.to_string());
    let size = reader.seek(SeekFrom::End(0)).map_err(io)?;
    let mut file = Sparse::new(size);
    let mut missing = size.saturating_sub(TAIL_LEN)..size;
    // A source distribution has several files that are read.
    for _ in 0..3 * MAX_ROUNDS {
        reader.seek(SeekFrom::Start(missing.start)).map_err(io)?;
        let mut bytes = Vec::new();
        (&mut reader).take(missing.end - missing.start).read_to_end(&mut bytes).map_err(io)?;
        file.insert(missing.start, &bytes);
        match find(&file) {
            Ok(found) => return Ok(found),
            Err(Stop::Fail(error)) => return Err(error),
            Err(Stop::Need(range)) => missing = range,
        }
    }
    Err(ArchiveError::Malformed("its parts do not fit together"))
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write};

    use proptest::prelude::*;
    use zip::CompressionMethod;
    use zip::write::SimpleFileOptions;

    use super::*;

    const METADATA: &str =
        "Metadata-Version: 2.1\nName: Foo.Bar\nVersion: 1.0\n\nA text that is long enough. ";

    fn name(text: &str) -> Name {
        Name::new(text).expect("valid")
    }

    /// An archive with these members, METADATA among them, and `fillers` empty members at the end.
    fn archive(members: &[(&str, &[u8])], options: SimpleFileOptions, fillers: usize) -> Vec<u8> {
        let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (path, contents) in members {
            writer.start_file(*path, options).expect("in memory");
            writer.write_all(contents).expect("in memory");
        }
        for n in 0..fillers {
            writer.start_file(format!("foo/{n}.py"), options).expect("in memory");
        }
        writer.finish().expect("in memory").into_inner()
    }

    fn deflated() -> SimpleFileOptions {
        SimpleFileOptions::default().compression_method(CompressionMethod::Deflated)
    }

    fn wheel(fillers: usize) -> Vec<u8> {
        let members = [
            ("foo_bar/lib.so", &[7; 3000][..]),
            ("foo_bar-1.0.dist-info/METADATA", METADATA.as_bytes()),
            ("foo_bar-1.0.dist-info/licenses/METADATA", b"no"),
            ("foo_bar/_vendor/other-1.0.dist-info/METADATA", b"no"),
        ];
        archive(&members, deflated(), fillers)
    }

    /// Plays a server, and counts the ranges that were asked for after the tail.
    fn over_ranges(file: &[u8], tail: usize) -> Result<(Vec<u8>, Vec<Range<u64>>), ArchiveError> {
        let mut wheel = WheelTail::new(file.len() as u64, name("foo-bar"));
        let from = file.len().saturating_sub(tail);
        wheel.supply(from as u64, &file[from..]);
        let mut asked = Vec::new();
        loop {
            match wheel.step()? {
                Step::Done(metadata) => return Ok((metadata, asked)),
                Step::Need(range) => {
                    assert!(!range.is_empty() && range.end <= file.len() as u64, "{range:?}");
                    let [start, end] =
                        [range.start, range.end].map(|at| usize::try_from(at).expect("small"));
                    wheel.supply(range.start, &file[start..end]);
                    asked.push(range);
                }
            }
        }
    }

    #[test]
    fn few_ranges_are_asked_for() {
        let small = wheel(0);
        for (file, tail, most) in
            [(&small, small.len(), 0), (&small, 400, 1), (&small, 0, 3), (&wheel(3000), 1000, 2)]
        {
            let (metadata, asked) = over_ranges(file, tail).expect("a wheel");
            assert_eq!(metadata, METADATA.as_bytes());
            assert!(asked.len() <= most, "tail {tail}: {asked:?}");
        }
    }

    #[test]
    fn zip64_archives_are_read() {
        // More members than 16 bits count: the writer has to use the zip64 end record.
        let many = wheel(66_000);
        assert!(many.windows(4).any(|four| four == b"PK\x06\x06"));
        let (metadata, asked) = over_ranges(&many, 1000).expect("a wheel");
        assert_eq!((metadata.as_slice(), asked.len()), (METADATA.as_bytes(), 2));
        let large_fields = deflated().large_file(true);
        let file =
            archive(&[("foo_bar-1.0.dist-info/METADATA", METADATA.as_bytes())], large_fields, 1);
        assert_eq!(over_ranges(&file, 10).expect("a wheel").0, METADATA.as_bytes());
    }

    #[test]
    fn whole_wheels_are_read_also_with_something_before_and_after() {
        let mut file = wheel(3);
        assert_eq!(
            metadata_from_wheel(Cursor::new(&file), name("Foo_Bar")).expect("a wheel"),
            METADATA.as_bytes()
        );
        file.splice(0..0, *b"#!/bin/sh\n");
        file.extend_from_slice(b"\n");
        assert_eq!(
            metadata_from_wheel(Cursor::new(&file), name("foo-bar")).expect("a wheel"),
            METADATA.as_bytes()
        );
    }

    #[test]
    fn stored_members_and_hyphens_in_names_are_read() {
        let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        let file = archive(&[("foo-bar-1.0.dist-info/METADATA", b"x")], stored, 0);
        assert_eq!(
            metadata_from_wheel(Cursor::new(&file), name("foo-bar")).expect("a wheel"),
            b"x"
        );
    }

    #[test]
    fn odd_archives_are_errors_with_words() {
        let error = |file: &[u8]| {
            metadata_from_wheel(Cursor::new(file), name("foo-bar")).expect_err("odd").to_string()
        };
        insta::assert_snapshot!(error(b""), @"it is not a valid zip archive: it has no end record");
        insta::assert_snapshot!(error(&[b'<'; 70_000]), @"it is not a valid zip archive: it has no end record");
        let good = wheel(0);
        insta::assert_snapshot!(error(&good[..good.len() - 5]), @"it is not a valid zip archive: it has no end record");
        insta::assert_snapshot!(error(&good[100..]), @"it is not a valid zip archive: its directory is not where its end record says");
        let other = archive(&[("other-1.0.dist-info/METADATA", b"x")], deflated(), 0);
        insta::assert_snapshot!(error(&other), @"it has no METADATA of 'foo-bar', but that of 'other-1.0'");
        let two = [
            ("foo_bar-1.0.dist-info/METADATA", &b"x"[..]),
            ("foo_bar-1.1.dist-info/METADATA", b"x"),
        ];
        insta::assert_snapshot!(error(&archive(&two, deflated(), 0)), @"it has more than one .dist-info folder of 'foo-bar'");
        let bomb =
            archive(&[("foo_bar-1.0.dist-info/METADATA", &vec![0; 17 << 20])], deflated(), 0);
        insta::assert_snapshot!(error(&bomb), @"its METADATA is 17825792 bytes large, more than the 16777216 bytes that are read");
    }

    /// What the `zip` crate reads from the same bytes.
    fn oracle(file: &[u8]) -> Option<Vec<u8>> {
        let mut archive = zip::ZipArchive::new(Cursor::new(file)).ok()?;
        let mut member = archive.by_name("foo_bar-1.0.dist-info/METADATA").ok()?;
        let mut contents = Vec::new();
        member.read_to_end(&mut contents).ok()?;
        Some(contents)
    }

    proptest! {
        #[test]
        fn every_tail_leads_to_what_the_zip_crate_reads(
            contents in proptest::collection::vec(any::<u8>(), 0..300),
            before in 0..2000_usize,
            fillers in 0..20_usize,
            tail in 0..4000_usize,
            store: bool,
        ) {
            let method = if store { CompressionMethod::Stored } else { CompressionMethod::Deflated };
            let noise: Vec<u8> = (0..before).map(|n| (n * n % 251) as u8).collect();
            let members = [("a.py", noise.as_slice()), ("foo_bar-1.0.dist-info/METADATA", &contents)];
            let file = archive(&members, deflated().compression_method(method), fillers);
            let (metadata, asked) = over_ranges(&file, tail).expect("a wheel");
            prop_assert_eq!(Some(metadata), oracle(&file));
            prop_assert!(asked.len() <= 4);
        }

        #[test]
        fn damaged_archives_give_the_same_or_an_error(
            at: proptest::sample::Index, noise in proptest::collection::vec(any::<u8>(), 1..30), tail in 0..4000_usize,
        ) {
            let mut file = wheel(2);
            let at = at.index(file.len());
            let end = (at + noise.len()).min(file.len());
            file.splice(at..end, noise.clone());
            let _ = over_ranges(&file, tail);
            let _ = over_ranges(&noise, tail);
            // What is given to a wheel may be anything, anywhere.
            let mut wheel = WheelTail::new(tail as u64, name("foo-bar"));
            wheel.supply(at as u64, &noise);
            let _ = wheel.step();
        }
    }
}
