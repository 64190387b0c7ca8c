import manifest from '../../package.json' with { type: 'json' }

/** The version of this server. */
export const version: string = manifest.version
/** The API version that this server speaks, and the oldest that it still does. */
export const apiVersion = 1
export const minimumClient = 1
