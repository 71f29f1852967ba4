// Groups of files that are linked with each other, directly or by others.

export interface Link {
  one: string;
  other: string;
  distance: number;
}

export interface Group {
  members: string[];
  /** The greatest of its links. */
  distance: number;
}

/** In linear time, but for the order of the members. */
export function groupsOf(links: readonly Link[]): Group[] {
  const above = new Map<string, string>();
  const top = (id: string): string => {
    let at = id;
    for (let next = above.get(at); next !== undefined; next = above.get(at)) {
      const further = above.get(next);
      if (further !== undefined) above.set(at, further);
      at = next;
    }
    return at;
  };
  for (const { one, other } of links) {
    const [a, b] = [top(one), top(other)];
    if (a !== b) above.set(b, a);
  }
  const groups = new Map<string, { members: Set<string>; distance: number }>();
  for (const { one, other, distance } of links) {
    const group = groups.get(top(one)) ?? { members: new Set(), distance: 0 };
    group.members.add(one).add(other);
    group.distance = Math.max(group.distance, distance);
    groups.set(top(one), group);
  }
  return [...groups.values()].map(({ members, distance }) => ({ members: [...members].sort(), distance }));
}
