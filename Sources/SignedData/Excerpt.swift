/// Foreign text made harmless for a message: printable ASCII, quoted, at most 40 characters.
func excerpt(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars.prefix(40) {
        if (0x20...0x7E).contains(scalar.value), scalar != "\"", scalar != "\\" {
            result.unicodeScalars.append(scalar)
        } else {
            result += "\\u{" + String(scalar.value, radix: 16) + "}"
        }
    }
    return text.unicodeScalars.count > 40 ? "\"\(result)\"..." : "\"\(result)\""
}
