//! Which symbols of an extension belong to torch.

/// Namespaces of libtorch, as the Itanium C++ ABI spells them at the start of a nested name.
const NAMESPACES: [&str; 5] = ["2at", "3c10", "4c10d", "5torch", "6caffe2"];
/// Prefixes of the plain C functions that make up the stable ABI.
const STABLE_PREFIXES: [&str; 2] = ["aoti_torch_", "torch_"];
/// What may stand between `_Z` and the name: nested names of functions and data, virtual tables, type information, guards.
const OPENINGS: [&str; 8] = ["N", "NK", "TVN", "TIN", "TSN", "TTN", "GVN", "TVNK"];

/// Whether torch has to export this symbol for the extension to load.
#[must_use]
pub fn belongs_to_torch(symbol: &str) -> bool {
    is_stable_abi(symbol) || is_mangled(symbol) || symbol.starts_with("THP")
}

/// Whether the symbol is part of torch's stable ABI: plain C, which later releases keep.
#[must_use]
pub fn is_stable_abi(symbol: &str) -> bool {
    STABLE_PREFIXES.iter().any(|prefix| symbol.starts_with(prefix))
}

fn is_mangled(symbol: &str) -> bool {
    let Some(name) = symbol.strip_prefix("_Z") else { return false };
    OPENINGS.iter().any(|opening| {
        let rest = name.strip_prefix(opening);
        rest.is_some_and(|rest| NAMESPACES.iter().any(|namespace| rest.starts_with(namespace)))
    })
}

/// Whether the symbol is the virtual table of a class of torch: its size tells how many virtual functions the class has.
#[must_use]
pub fn is_virtual_table(symbol: &str) -> bool {
    symbol.starts_with("_ZTV") && is_mangled(symbol)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_torch_and_of_others() {
        for symbol in [
            "_ZN3c106detail14torchCheckFailEPKcS2_jRKSs",
            "_ZNK2at10TensorBase8data_ptrIfEEPT_v",
            "_ZTVN5torch8autograd4NodeE",
            "_ZTIN3c105ErrorE",
            "aoti_torch_get_data_ptr",
            "torch_library_impl",
            "THPVariableClass",
        ] {
            assert!(belongs_to_torch(symbol), "{symbol}");
        }
        for symbol in [
            "_ZN6vision3ops3nmsEv",
            "_ZNSt6vectorIN2at6TensorEE",
            "cudaMalloc",
            "_ZN14torch_tensorrt4coreEv",
        ] {
            assert!(!belongs_to_torch(symbol), "{symbol}");
        }
        assert!(is_stable_abi("torch_library_impl") && !is_stable_abi("THPVariableClass"));
        assert!(is_virtual_table("_ZTVN5torch8autograd4NodeE"));
        assert!(!is_virtual_table("_ZTIN5torch8autograd4NodeE"));
    }
}
