//! A map in which every value is made once, however many ask for it.

use std::hash::Hash;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rustc_hash::FxHashMap;
use tokio::sync::Notify;

/// Values by key, each made by whoever asked first.
pub(crate) struct OnceMap<K, V> {
    slots: Mutex<FxHashMap<K, Arc<Slot<V>>>>,
}

/// The place of one value.
pub(crate) struct Slot<V> {
    value: OnceLock<V>,
    awaited: AtomicBool,
    awaited_now: Notify,
    then: Mutex<Vec<Then<V>>>,
}

/// What is done with a value as soon as it is there.
type Then<V> = Box<dyn FnOnce(&V) + Send>;

/// The right, and the duty, to make the value of a slot. When it is dropped without one (the work was cancelled or
/// panicked), the slot gets the value for that case, so that nobody waits for ever.
pub(crate) struct Maker<V> {
    slot: Arc<Slot<V>>,
    otherwise: fn() -> V,
}

impl<K, V> Default for OnceMap<K, V> {
    fn default() -> Self {
        Self { slots: Mutex::new(FxHashMap::default()) }
    }
}

impl<K: Eq + Hash, V> OnceMap<K, V> {
    /// The slot of `key`, and for the first who asks the right to fill it. `otherwise` is what the slot gets when that
    /// right is dropped unused.
    pub(crate) fn slot(&self, key: K, otherwise: fn() -> V) -> (Arc<Slot<V>>, Option<Maker<V>>) {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        match slots.entry(key) {
            std::collections::hash_map::Entry::Occupied(entry) => (Arc::clone(entry.get()), None),
            std::collections::hash_map::Entry::Vacant(entry) => {
                let slot = Arc::new(Slot {
                    value: OnceLock::new(),
                    awaited: AtomicBool::new(false),
                    awaited_now: Notify::new(),
                    then: Mutex::default(),
                });
                entry.insert(Arc::clone(&slot));
                (Arc::clone(&slot), Some(Maker { slot, otherwise }))
            }
        }
    }
}

impl<V: Clone> Slot<V> {
    /// The value; blocks the thread until there is one.
    pub(crate) fn wait(&self) -> V {
        if let Some(value) = self.value.get() {
            return value.clone();
        }
        self.awaited.store(true, Ordering::Release);
        self.awaited_now.notify_one();
        self.value.wait().clone()
    }
}

impl<V> Slot<V> {
    /// Calls `then` with the value: now if there is one, else on the thread that brings it.
    pub(crate) fn then(&self, then: impl FnOnce(&V) + Send + 'static) {
        let mut waiting = self.then.lock().unwrap_or_else(PoisonError::into_inner);
        match self.value.get() {
            Some(value) => {
                drop(waiting);
                then(value);
            }
            None => waiting.push(Box::new(then)),
        }
    }

    fn give(&self, value: V) {
        // Only the maker sets the value, so it is empty until now.
        let _ = self.value.set(value);
        let waiting =
            std::mem::take(&mut *self.then.lock().unwrap_or_else(PoisonError::into_inner));
        if let Some(value) = self.value.get() {
            waiting.into_iter().for_each(|then| then(value));
        }
    }
}

impl<V> Maker<V> {
    /// Gives the value to everybody who waits.
    pub(crate) fn finish(self, value: V) {
        self.slot.give(value);
    }

    /// Returns as soon as somebody waits for the value: then it is no longer just a hint.
    pub(crate) async fn awaited(&self) {
        while !self.slot.awaited.load(Ordering::Acquire) {
            self.slot.awaited_now.notified().await;
        }
    }
}

impl<V> Drop for Maker<V> {
    fn drop(&mut self) {
        if self.slot.value.get().is_none() {
            self.slot.give((self.otherwise)());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_makes_and_all_wait() {
        let map: OnceMap<u8, u32> = OnceMap::default();
        let (slot, maker) = map.slot(1, || 0);
        let maker = maker.expect("the first");
        assert!(map.slot(1, || 0).1.is_none());
        std::thread::scope(|scope| {
            let waiters: Vec<_> = (0..4).map(|_| scope.spawn(|| slot.wait())).collect();
            maker.finish(7);
            for waiter in waiters {
                assert_eq!(waiter.join().expect("no panic"), 7);
            }
        });
    }

    #[test]
    fn a_maker_that_gives_up_leaves_a_value() {
        let map: OnceMap<u8, Result<u32, &str>> = OnceMap::default();
        let (slot, maker) = map.slot(1, || Err("given up"));
        drop(maker);
        assert_eq!(slot.wait(), Err("given up"));
    }
}
