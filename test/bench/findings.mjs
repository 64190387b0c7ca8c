/** Why a goal is missed, in a sentence or two each: shown beneath the goals for those that this run missed. */
export const findings = {
  turns:
    'Turns and events: what separates them from the floor is the server’s one thread. A turn is three statements (the caller, the turn, the run that is answered), a batch of events is six round trips (the caller, BEGIN, session, run, the write, COMMIT); their way through Prisma and pg is a little over half of the server’s CPU, HTTP and GraphQL are the rest. One at a time the round trips add up; many at a time the thread is full before PostgreSQL is. Nearer would come: the batch as one statement as the turn is, and hot statements by pg without Prisma.',
  fanOut:
    'Fan-out: a delivery is a write of its own to each socket, which raw ws pays too; the commit of the event through the API is counted in.',
  nested:
    'Nested query: our figure holds the caller’s authentication and four more statements to PostgreSQL (session, bounds, events, principals), whose way through Prisma and pg is some two fifths of it; executing the query, with global ids, is the next. Mercurius answers from memory without a caller. With rows from PostgreSQL 1.5 × is out of reach; a cache of rows would have to be invalidated across servers.',
  catchUp:
    'Catching up: nothing is executed any more; an event is its row through Prisma, its text, and a frame of its own to the socket, where the raw SELECT is only the row. A page is read when the last has been taken, so PostgreSQL and the server wait for one another. Nearer would come: reading the next page while one is sent, and pages by pg without Prisma.',
  pages:
    'First pages: all are read from the start of their index, and none takes a millisecond; what is above 1.3 × is some hundredths of a millisecond, about as much as one run differs from the next.',
  start:
    'Start: loading the bundle and building the schema is most of it; the rest waits for PostgreSQL, migrations and the first answer.',
  memory:
    'Memory: it lies at the limit, which is 238 MiB, and differs by some MiB from run to run; about four fifths are the server’s, a fifth PostgreSQL’s.',
  console: 'Console: the entry imports more than the first page shows.',
}
