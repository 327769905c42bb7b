// A change that is sent once, however fast its button is clicked: the state of a mutation reaches the page a moment
// after the first click.
import { useMutation, type UseMutationOptions } from '@tanstack/react-query';
import { useRef } from 'react';

export function useChange<T>(options: UseMutationOptions<T, unknown, void>) {
  const sent = useRef(false);
  const { mutate, data, error, isError, isPending } = useMutation<T, unknown, void>({
    ...options,
    onSettled: (...given) => {
      sent.current = false;
      return options.onSettled?.(...given);
    },
  });
  const send = () => {
    if (sent.current) return;
    sent.current = true;
    mutate();
  };
  return { send, data, error, isError, isPending };
}
