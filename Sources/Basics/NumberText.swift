/// A number with a noun, such as `1 page` or `3 pages`.
package func counted(_ number: some BinaryInteger, _ noun: String) -> String {
    "\(number) \(noun)\(number == 1 ? "" : "s")"
}

/// Such as `1.4 GB`, by powers of ten.
package func sizeInWords(_ bytes: Int64) -> String {
    for (unit, name) in [(1e12, "TB"), (1e9, "GB"), (1e6, "MB")] where Double(bytes) >= unit {
        return "\((Double(bytes) / unit * 10).rounded() / 10) \(name)"
    }
    return "\(bytes / 1_000) kB"
}
