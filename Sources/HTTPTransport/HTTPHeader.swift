/// One header field: its name as it was spelled, its value without the space around it.
package struct HTTPHeader: Equatable, Sendable {
    package let name: String
    package let value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

extension [HTTPHeader] {
    /// The values of every field of this name, in the order they came; names differ in nothing but ASCII case.
    package func values(of name: String) -> [String] {
        let wanted = name.lowercased()
        return filter { $0.name.lowercased() == wanted }.map(\.value)
    }
}
