package import StrictJSON

/// One of the objects in the bodies of Advanced Commerce requests: its members, and the rules that several members share.
///
/// Unlike ``ObjectShape``, which reads what Apple sends, it is strict: Apple refuses a body with one wrong member, so a body with a
/// member that is not documented is refused before it is sent or signed. Source: Advanced Commerce API 1.2, read 2026-11.
package final class AdvancedCommerceObject: Sendable {
    /// Finds a combination of valid members that Apple refuses; the path is that in the object.
    package typealias Rule = @Sendable (JSONElement) -> AdvancedCommerceProblem?

    /// Apple's name of the object.
    package let name: String
    /// In the order in which they are sent.
    private let fields: [AdvancedCommerceField]
    private let keys: KeyTable
    private let rule: Rule

    package init(_ name: String, _ fields: [AdvancedCommerceField], rule: @escaping Rule = { _ in nil }) {
        self.name = name
        self.fields = fields
        self.rule = rule
        keys = KeyTable(fields.map(\.key))
    }

    /// Checks an object.
    ///
    /// - Parameter unknown: Counts members that Apple does not document; without it they break a rule.
    /// - Throws: The first rule that the object breaks; the path is empty, or leads to a value inside the object.
    func check(_ object: JSONElement, _ unknown: inout UnknownMembers?) throws(AdvancedCommerceProblem) {
        guard object.isObject else {
            throw AdvancedCommerceProblem("", AdvancedCommerceProblem.wrongType, "must be an object")
        }
        let members = object.members(in: keys)
        if unknown != nil {
            object.forEachMember(in: keys) { place, value in
                if place == nil { unknown?.note(printable(value.memberName), of: name) }
            }
        } else if let unknown = members.unknownName {
            throw AdvancedCommerceProblem(
                ".\(printable(unknown))",
                AdvancedCommerceProblem.unknownField,
                "is not a member of \(name); the members are \(keys.keys.joined(separator: ", "))"
            )
        }
        let fields = fields
        for place in fields.indices { try fields.span[place].check(members[place], &unknown) }
        if let problem = rule(object) { throw problem }
    }

    /// A valid object in the form in which it is sent: its members are in the order of the documentation.
    func sent(_ object: JSONElement) -> JSONObject {
        JSONObject(
            fields.compactMap { field in
                object[field.key].map { JSONObject.Member(key: field.key, value: field.kind.sent($0)) }
            }
        )
    }

    private func printable(_ key: String) -> String {
        String(key.unicodeScalars.prefix(40).map { $0.value < 0x20 || $0.value == 0x7F ? "?" : Character($0) })
    }
}
