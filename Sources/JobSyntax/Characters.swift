package func isLowercaseOrDigit(_ byte: UInt8) -> Bool {
    (0x61...0x7A).contains(byte) || isDigit(byte)
}

package func isLetterOrDigit(_ byte: UInt8) -> Bool {
    (0x41...0x5A).contains(byte) || isLowercaseOrDigit(byte)
}

package func isDigit(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte)
}
