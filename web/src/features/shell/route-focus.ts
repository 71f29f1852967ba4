// After a navigation within the app the heading has the focus, so that a screen reader goes on there. Kit announces the title.
import { afterNavigate } from '$app/navigation';

export function focusHeading(): void {
  afterNavigate(({ type }) => {
    if (type === 'enter' || type === 'popstate' || document.activeElement?.matches('input')) return;
    document.querySelector<HTMLElement>('h1')?.focus({ preventScroll: true });
  });
}
