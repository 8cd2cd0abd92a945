/// Byte strings in one buffer.
struct ByteStrings {
    private(set) var bytes: [UInt8] = []
    private var ends: [Int] = []

    var count: Int { ends.count }

    var isEmpty: Bool { ends.isEmpty }

    func range(_ index: Int) -> Range<Int> { (index == 0 ? 0 : ends[index - 1])..<ends[index] }

    mutating func append(_ string: Span<UInt8>) {
        unsafe string.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
        ends.append(bytes.count)
    }

    /// Appends the lowest `count` bytes of a number, the lowest first.
    mutating func append(_ value: Int64, count: Int) {
        bytes.appendLittleEndian(value, count: count)
        ends.append(bytes.count)
    }

    /// Keeps the first `count` strings.
    mutating func truncate(to count: Int) {
        guard count < ends.count else { return }
        bytes.removeSubrange((count == 0 ? 0 : ends[count - 1])...)
        ends.removeSubrange(count...)
    }

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
    }
}
