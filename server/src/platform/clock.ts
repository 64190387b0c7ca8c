/** Where time comes from. Rules and queries get it as an argument; the database's own clock decides nothing. */
export interface Clock {
  now(): Date
}

export const systemClock: Clock = { now: () => new Date() }
