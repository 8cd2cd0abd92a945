/// Where a job has the private key of its In-App Purchase key.
///
/// Its description names the place and never shows the key.
package enum PrivateKeySource: Equatable, Sendable, CustomStringConvertible, CustomDebugStringConvertible,
    CustomReflectable
{
    /// `appStore.privateKeyFile`: an absolute path.
    case file(String)
    /// `appStore.privateKey`: the value of an environment variable, which should be PEM.
    case variable(name: String, text: String)

    /// The path of the key's file; `nil` if the key is in a variable.
    package var path: String? {
        guard case .file(let path) = self else { return nil }
        return path
    }

    package var description: String {
        switch self {
        case .file(let path): path
        case .variable(let name, _): "${\(name)}"
        }
    }

    package var debugDescription: String { description }

    package var customMirror: Mirror { Mirror(self, children: []) }
}
