/// A JSON object of names and JSON texts; `changes` replaces or adds members, or removes them with `nil`.
package func jsonText(_ members: [(String, String)], changing changes: KeyValuePairs<String, String?>) -> String {
    var members = members
    for (key, value) in changes {
        let place = members.firstIndex { $0.0 == key }
        switch (place, value) {
        case (let place?, let value?): members[place].1 = value
        case (let place?, nil): members.remove(at: place)
        case (nil, let value?): members.append((key, value))
        case (nil, nil): break
        }
    }
    return "{" + members.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + "}"
}
