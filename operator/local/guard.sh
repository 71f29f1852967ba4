#!/bin/sh
# Outlives a killed operator just long enough to end its children. Reads "+ GROUP SIGNAL LAST" and "- GROUP" lines;
# at the end of input (the operator is gone) sends SIGNAL to each group left and, six seconds later, LAST.
trap '' HUP INT TERM
groups=
while read -r op group signal last; do
  case $op in
    +) groups="$groups $group:$signal:$last" ;;
    -)
      rest=
      for entry in $groups; do [ "${entry%%:*}" = "$group" ] || rest="$rest $entry"; done
      groups=$rest
      ;;
  esac
done
[ -n "$groups" ] || exit 0
for entry in $groups; do
  signal=${entry#*:}
  kill -s "${signal%%:*}" -- "-${entry%%:*}" 2>/dev/null
done
sleep 6
for entry in $groups; do kill -s "${entry##*:}" -- "-${entry%%:*}" 2>/dev/null; done
exit 0
