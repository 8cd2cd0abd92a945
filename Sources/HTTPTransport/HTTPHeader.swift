/// One header field: its name in the original case, and its value without surrounding spaces.
package struct HTTPHeader: Equatable, Sendable {
    package let name: String
    package let value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

extension [HTTPHeader] {
    /// The values of all fields with this name in the order of arrival; the name's case does not matter.
    package func values(of name: String) -> [String] {
        let wanted = name.lowercased()
        return filter { $0.name.lowercased() == wanted }.map(\.value)
    }
}
