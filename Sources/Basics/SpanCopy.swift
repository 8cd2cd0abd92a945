extension [UInt8] {
    /// The bytes of `span`.
    package init(copying span: Span<UInt8>) {
        self = unsafe span.withUnsafeBufferPointer { unsafe [UInt8]($0) }
    }
}
