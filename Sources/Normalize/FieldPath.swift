/// Where a field stands in its record.
struct FieldPath {
    /// With the places in arrays, as in `items[2].price`: names one value of one record.
    let exact: String
    /// Without them, as in `items[].price`: names the field in all records.
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
