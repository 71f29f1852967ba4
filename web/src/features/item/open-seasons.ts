// Which seasons of a show are open, for the life of the page: a return to the show finds them so.

const shows = new Map<string, Record<string, boolean>>();

/** The choices of a show; the caller changes them in place. */
export function kept(id: string): Record<string, boolean> {
  const known = shows.get(id) ?? {};
  shows.set(id, known);
  return known;
}
