/// Text that is compared byte for byte, as in databases; for sets and dictionary keys.
package struct ExactText: Hashable, Sendable {
    package let text: String

    package init(_ text: String) {
        self.text = text
    }

    package static func == (left: Self, right: Self) -> Bool {
        left.text.isByteEqual(to: right.text)
    }

    package func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { bytes in unsafe hasher.combine(bytes: UnsafeRawBufferPointer(bytes)) }
        // A separator, so that ("a", "bc") and ("ab", "c") differ.
        hasher.combine(0xFF as UInt8)
    }
}

extension String {
    /// Whether both are the same UTF-8 bytes.
    ///
    /// `==` is canonical equivalence, in which `e` and U+0301 equal U+00E9.
    package func isByteEqual(to other: String) -> Bool {
        utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
    }
}
