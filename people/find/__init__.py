"""Finding people by what is known of them, the best first: what is asked for, who may be meant, how it is answered."""
