package import StrictJSON

/// One of the objects in the bodies of Advanced Commerce requests: its members, and the rules that several members share.
///
/// Unlike ``ObjectShape``, which reads what Apple sends, it is strict: Apple refuses a body with one wrong member, so a body with a
/// member that is not documented is refused before it is sent or signed. Source: Advanced Commerce API 1.2, read 2026-11.
package struct AdvancedCommerceObject: Sendable {
    /// Finds a combination of valid members that Apple refuses; the path is that of the object.
    package typealias Rule = @Sendable (JSONObject, _ path: String) -> AdvancedCommerceProblem?

    /// Apple's name of the object.
    package let name: String
    /// In the order in which they are sent.
    package let fields: [AdvancedCommerceField]
    private let rule: Rule

    package init(_ name: String, _ fields: [AdvancedCommerceField], rule: @escaping Rule = { _, _ in nil }) {
        self.name = name
        self.fields = fields
        self.rule = rule
    }

    /// Checks an object, and brings its members into the order of ``fields``.
    ///
    /// - Parameters:
    ///   - value: JSON.
    ///   - path: The place of the object, such as `items[0]`; empty for a whole body.
    /// - Returns: The object in the form in which it is sent.
    /// - Throws: The first rule that the object breaks.
    package func read(_ value: JSONValue, at path: String = "") throws(AdvancedCommerceProblem) -> JSONObject {
        guard let object = value.object else {
            throw AdvancedCommerceProblem(
                path.isEmpty ? name : path,
                AdvancedCommerceProblem.wrongType,
                "must be an object"
            )
        }
        func place(of key: String) -> String { path.isEmpty ? key : "\(path).\(key)" }
        for member in object.members where !fields.contains(where: { $0.key.isByteEqual(to: member.key) }) {
            throw AdvancedCommerceProblem(
                place(of: printable(member.key)),
                AdvancedCommerceProblem.unknownField,
                "is not a member of \(name); the members are \(fields.map(\.key).joined(separator: ", "))"
            )
        }
        var members: [JSONObject.Member] = []
        for field in fields {
            guard let value = object[field.key], value != .null else {
                guard field.isRequired || object[field.key] != nil else { continue }
                throw problem(of: field, at: place(of: field.key), isNull: object[field.key] != nil)
            }
            members.append(
                JSONObject.Member(key: field.key, value: try field.kind.read(value, at: place(of: field.key)))
            )
        }
        let read = JSONObject(members)
        if let problem = rule(read, path) { throw problem }
        return read
    }

    private func problem(of field: AdvancedCommerceField, at path: String, isNull: Bool) -> AdvancedCommerceProblem {
        let detail = isNull ? (field.isRequired ? "is null" : "is null; leave it out") : "is missing"
        guard let code = field.missing else { return AdvancedCommerceProblem(path, "missing_field", detail) }
        return AdvancedCommerceProblem(path, code, detail)
    }

    private func printable(_ key: String) -> String {
        String(key.unicodeScalars.prefix(40).map { $0.value < 0x20 || $0.value == 0x7F ? "?" : Character($0) })
    }
}
