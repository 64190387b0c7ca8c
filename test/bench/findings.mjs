/** Why a goal is missed, in a sentence each: shown beneath the goals for those that this run missed. */
export const findings = {
  turns:
    'Turns and events: the server spends 3 to 5 ms of CPU on each, in one thread, where the floor has none; PostgreSQL spends three times the floor’s, because every statement is parsed and planned anew and a transaction is four to eight of them.',
  fanOut:
    'Fan-out: a delivery is one `writev` of its own to each socket (what raw ws pays too), plus the commit of the event, which is counted in.',
  nested:
    'Nested query: authentication, PostgreSQL and Prisma’s statements are in our figure and not in the reference’s; GraphQL itself is the smaller part.',
  catchUp:
    'Catching up: each event is executed by the GraphQL engine, one after the other, for the one who asks.',
  pages: 'First pages: a list costs more than its page.',
  start:
    'Start: the time is the loading of modules and the building of the schema, on cores that others use.',
  memory: 'Memory: the server holds Prisma’s compiler and client, the schema and better-auth.',
  console: 'Console: the entry imports more than the first page shows.',
}
