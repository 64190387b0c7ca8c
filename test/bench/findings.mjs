/** Why a goal is missed, in a sentence or two each: shown beneath the goals for those that this run missed. */
export const findings = {
  turns:
    'Turns and events: what separates them from the floor is the server’s one thread and the network. A turn and a batch of events are two statements each, the caller’s and their own, by pg without Prisma; handing them to PostgreSQL’s socket is the largest part of what is left, then GraphQL and HTTP. One at a time the two round trips, HTTP and a core that each step wakes add up; many at a time the thread is full before PostgreSQL is. Nearer would come: the caller’s rights read within the statement that needs them.',
  fanOut:
    'Fan-out: a delivery is a write of its own to each socket, which raw ws pays too; the commit of the event through the API is counted in.',
  nested:
    'Nested query: our figure holds the caller’s authentication and four more statements to PostgreSQL (session, bounds, events, principals), by pg without Prisma; executing the query is the rest, global ids, which the schema resolves asynchronously, a large part of it. Mercurius answers from memory without a caller. With rows from PostgreSQL 1.5 × is out of reach; a cache of rows would have to be invalidated across servers.',
  catchUp:
    'Catching up: nothing is executed any more; an event is its row, its text, and a frame of its own to the socket, where the raw SELECT is only the row. The next page is read while one is sent. Nearer would come: the payload’s text passed on as PostgreSQL gives it, without being parsed and written again.',
  pages:
    'First pages: all are read from the start of their index, and none takes a millisecond; what is above 1.3 × is some hundredths of a millisecond, about as much as one run differs from the next.',
  start:
    'Start: loading the bundle and building the schema is most of it; the rest waits for PostgreSQL, migrations and the first answer.',
  memory:
    'Memory: it lies at the limit, which is 238 MiB, and differs by some MiB from run to run; about four fifths are the server’s, a fifth PostgreSQL’s.',
  console: 'Console: the entry imports more than the first page shows.',
}
