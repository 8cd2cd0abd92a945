extension [UInt8] {
    /// The lines without the line feeds; empty lines are left out.
    package var lines: [[UInt8]] { split(separator: UInt8(ascii: "\n")).map(Array.init) }
}
