/// The path of a field in its record.
struct FieldPath {
    /// With array indexes, as in `items[2].price`: identifies one value of one record.
    let exact: String
    /// Without array indexes, as in `items[].price`: identifies the field in all records.
    let general: String

    static let root = FieldPath(exact: "", general: "")

    func appending(_ key: String) -> Self {
        FieldPath(exact: Self.join(exact, key), general: Self.join(general, key))
    }

    func appending(position: Int) -> Self {
        FieldPath(exact: "\(exact)[\(position)]", general: general + "[]")
    }

    private static func join(_ path: String, _ key: String) -> String {
        path.isEmpty ? key : "\(path).\(key)"
    }
}
