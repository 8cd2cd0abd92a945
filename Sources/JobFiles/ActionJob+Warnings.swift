import ActionKinds
package import AppStoreModel

extension ActionJob {
    package var sandboxOnly: [StreamName] { action.isInProduction ? [] : [action.name] }
}
