package import JobFiles
package import SignedData

extension SigningKey {
    /// Reads the key of a job.
    ///
    /// - Throws: ``SignedData/KeyFileError``.
    package static func load(_ source: PrivateKeySource) throws(KeyFileError) -> SigningKey {
        switch source {
        case .file(let path): try load(file: path)
        case .variable(let name, let text): try load(text: text, ofVariable: name)
        }
    }
}
