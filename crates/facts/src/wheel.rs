//! The shared objects of one wheel.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Seek};

use zip::ZipArchive;

use crate::elf::{self, SharedObject};
use crate::error::Error;
use crate::fatbin::Code;

/// What is in a wheel, as far as rows are derived from it.
#[derive(Debug, Default)]
pub struct Contents {
    /// Shared objects by their path in the wheel.
    pub objects: BTreeMap<String, SharedObject>,
    /// Files that are named like shared objects and are none, with the reason.
    pub unread: Vec<String>,
}

impl Contents {
    /// Reads every shared object that `wanted` names by its path.
    ///
    /// # Errors
    /// When the archive cannot be read. A member that is no shared object is kept in [`Contents::unread`].
    pub fn read(wheel: impl Read + Seek, wanted: impl Fn(&str) -> bool) -> Result<Self, Error> {
        let mut archive = ZipArchive::new(wheel)?;
        let mut names: Vec<String> = archive.file_names().map(str::to_owned).collect();
        names.retain(|name| is_shared_object(name) && wanted(name));
        // In the order in which they lie in the file, so that ranges follow on from each other.
        let mut places = Vec::new();
        for name in names {
            let at = archive.by_name(&name)?.header_start();
            places.push((at, name));
        }
        places.sort();
        let mut contents = Self::default();
        for (_, name) in places {
            let mut member = archive.by_name(&name)?;
            let mut bytes = Vec::with_capacity(usize::try_from(member.size()).unwrap_or(0));
            member.read_to_end(&mut bytes)?;
            match elf::read(&bytes) {
                Ok(object) => drop(contents.objects.insert(name, object)),
                Err(error) => contents.unread.push(format!("{name}: {error}")),
            }
        }
        Ok(contents)
    }

    /// The targets that the wheel as a whole was compiled for. A file or two for another one (the compiler's default where
    /// a flag was forgotten, a kernel for one architecture alone) make no GPU run the rest: a target counts when it has at
    /// least a quarter as many files as the most frequent one.
    #[must_use]
    pub fn code(&self) -> BTreeSet<Code> {
        let mut files: BTreeMap<&Code, usize> = BTreeMap::new();
        for (target, count) in self.objects.values().flat_map(|object| &object.code) {
            *files.entry(target).or_default() += count;
        }
        let most = files.values().copied().max().unwrap_or(0);
        files
            .into_iter()
            .filter(|(_, count)| count * 4 >= most)
            .map(|(target, _)| target.clone())
            .collect()
    }

    /// Libraries that are needed and do not lie in the wheel itself.
    #[must_use]
    pub fn foreign(&self) -> BTreeSet<&str> {
        let own: BTreeSet<&str> = self.objects.keys().map(|path| file_name(path)).collect();
        let needed = self.objects.values().flat_map(|object| object.needed.iter());
        needed.map(String::as_str).filter(|needed| !own.contains(needed)).collect()
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// `libx.so`, `libx.so.12`, `module.cpython-311-x86_64-linux-gnu.so`.
fn is_shared_object(path: &str) -> bool {
    let name = file_name(path);
    name.ends_with(".so")
        || name
            .split_once(".so.")
            .is_some_and(|(_, version)| version.starts_with(|c: char| c.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forgotten_flag_makes_no_gpu_run_the_wheel() {
        let target = |number, files| (Code::machine(number), files);
        let object = |code: &[(Code, usize)]| SharedObject {
            code: code.iter().cloned().collect(),
            ..SharedObject::default()
        };
        let objects = [
            ("a/_C.so", object(&[target(70, 30), target(80, 31), target(90, 60)])),
            ("a/other.so", object(&[target(52, 1), target(80, 2)])),
        ];
        let objects = objects.into_iter().map(|(path, object)| (path.to_owned(), object)).collect();
        let code = Contents { objects, ..Contents::default() }.code();
        let names: Vec<String> = code.iter().map(ToString::to_string).collect();
        assert_eq!(names, ["sm_70", "sm_80", "sm_90"]);
    }

    #[test]
    fn names_of_shared_objects() {
        for name in [
            "a/libx.so",
            "libx.so.12",
            "a/_C.cpython-311-x86_64-linux-gnu.so",
            "torch/lib/libcudnn.so.9.1",
        ] {
            assert!(is_shared_object(name), "{name}");
        }
        for name in ["a/libx.so.txt", "a/x.py", "a/so", "a/x.so.d/y.py"] {
            assert!(!is_shared_object(name), "{name}");
        }
    }
}
