// Pointers on the picture: a mouse plays and pauses, a finger shows the controls, seeks by two taps or by dragging;
// two fingers make the picture fill the screen or fit into it.

export interface Gestures {
  /** One press. */
  press(isTouch: boolean): void;
  /** Two presses in quick succession, at a share of the width. */
  twice(isTouch: boolean, share: number): void;
  /** Dragging sideways, as a share of the width from where it began; `isEnd` when the finger leaves. */
  drag(share: number, isEnd: boolean): void;
  /** The browser or a second finger ended the dragging; nothing moves. */
  cancel(): void;
  /** Two fingers went apart, or together. */
  pinch(isApart: boolean): void;
}

/** The element that is pressed. */
interface Surface {
  clientWidth: number;
  addEventListener(name: string, handle: (event: Event) => void, options: { signal: AbortSignal }): void;
}

interface Pointer {
  pointerId: number;
  pointerType: string;
  button: number;
  clientX: number;
  clientY: number;
}

const TWICE_MS = 300;
const DRAG_PX = 24;
/** The distance of two fingers grew or shrank by so much. */
const PINCHED = 1.2;

interface Down {
  id: number;
  x: number;
  y: number;
  isDragging: boolean;
}

/** The fingers on the picture. Two of them are a pinch until all have left. */
class Fingers {
  readonly #at = new Map<number, Pointer>();
  readonly #pinch: Gestures['pinch'];
  #from: number | undefined;
  #isDone = false;

  constructor(pinch: Gestures['pinch']) {
    this.#pinch = pinch;
  }

  get arePinching(): boolean {
    return this.#from !== undefined;
  }

  put(event: Pointer): void {
    if (event.pointerType === 'mouse') return;
    this.#at.set(event.pointerId, event);
    if (this.#at.size === 2) this.#from ??= this.#distance();
  }

  move(event: Pointer): void {
    if (!this.#at.has(event.pointerId)) return;
    this.#at.set(event.pointerId, event);
    if (this.#from === undefined || this.#isDone || this.#at.size !== 2) return;
    const ratio = this.#distance() / this.#from;
    this.#isDone = ratio > PINCHED || ratio < 1 / PINCHED;
    if (this.#isDone) this.#pinch(ratio > 1);
  }

  lift({ pointerId }: Pointer): void {
    this.#at.delete(pointerId);
    if (this.#at.size > 0) return;
    this.#from = undefined;
    this.#isDone = false;
  }

  #distance(): number {
    const [one, other] = [...this.#at.values()] as [Pointer, Pointer];
    return Math.max(1, Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY));
  }
}

/** Listens on an element; returns the work that ends it. */
export function listen(element: Surface, gestures: Gestures): () => void {
  const ends = new AbortController();
  let down: Down | undefined;
  let waiting: ReturnType<typeof setTimeout> | undefined;
  const fingers = new Fingers((isApart) => gestures.pinch(isApart));
  const width = (): number => element.clientWidth || 1;

  function released(event: Pointer): void {
    const isTouch = event.pointerType !== 'mouse';
    if (waiting !== undefined) {
      clearTimeout(waiting);
      waiting = undefined;
      gestures.twice(isTouch, event.clientX / width());
      return;
    }
    waiting = setTimeout(() => {
      waiting = undefined;
      if (isTouch) gestures.press(true);
    }, TWICE_MS);
    if (!isTouch) gestures.press(false);
  }

  function cancelled(): void {
    if (down?.isDragging) gestures.cancel();
    down = undefined;
  }

  const handlers: Record<string, (event: Pointer) => void> = {
    pointerdown(event) {
      cancelled();
      fingers.put(event);
      if (event.button === 0 && !fingers.arePinching)
        down = { id: event.pointerId, x: event.clientX, y: event.clientY, isDragging: false };
    },
    pointermove(event) {
      fingers.move(event);
      if (down?.id !== event.pointerId || event.pointerType === 'mouse') return;
      const [dx, dy] = [event.clientX - down.x, event.clientY - down.y];
      if (!down.isDragging && Math.abs(dx) > DRAG_PX && Math.abs(dx) > 2 * Math.abs(dy)) down.isDragging = true;
      if (down.isDragging) gestures.drag(dx / width(), false);
    },
    pointerup(event) {
      fingers.lift(event);
      const from = down;
      down = undefined;
      if (from?.id !== event.pointerId) return;
      if (from.isDragging) gestures.drag((event.clientX - from.x) / width(), true);
      else if (Math.hypot(event.clientX - from.x, event.clientY - from.y) < DRAG_PX) released(event);
    },
    pointercancel(event) {
      fingers.lift(event);
      cancelled();
    },
  };
  for (const [name, handle] of Object.entries(handlers))
    element.addEventListener(name, handle as unknown as (event: Event) => void, { signal: ends.signal });
  return () => {
    ends.abort();
    clearTimeout(waiting);
  };
}
