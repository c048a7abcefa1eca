// A person as a link to the page: the photo, the name, and below it what else is to be said.
import type { ComponentChildren } from "preact";
import { href } from "../../app/router.ts";
import { Avatar } from "../../ui/Avatar.tsx";

interface Props {
  person: { id: string; name: string; photo: string | null };
  children?: ComponentChildren;
}

export function PersonLink({ person, children }: Props) {
  return (
    <a class="row person-link nowrap" href={href(`/people/${person.id}`)}>
      <Avatar person={person} />
      <span>
        <bdi>
          <strong>{person.name}</strong>
        </bdi>{" "}
        {children && <span class="soft small block">{children}</span>}
      </span>
    </a>
  );
}
